// Runs OpenCV's operations for the benchmark in the folder above: a line "operation type parameter width height threads
// runs" on standard input runs one once and then that often, and answers with a line for each of these runs: its
// wall-clock time and the process's processor time in nanoseconds. The data are those of main.go, made once for each
// type and size.
#include <chrono>
#include <ctime>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace {

// noise returns the same samples as main.go.
cv::Mat noise(const std::string &type, int width, int height) {
	const int kind = type == "u8" ? CV_8U : type == "u16" ? CV_16U : CV_32F;
	cv::Mat m(height, width, kind);
	uint32_t state = 1;
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			state ^= state << 13;
			state ^= state >> 17;
			state ^= state << 5;
			switch (kind) {
			case CV_8U: m.at<uint8_t>(y, x) = state >> 24; break;
			case CV_16U: m.at<uint16_t>(y, x) = state >> 16; break;
			default: m.at<float>(y, x) = (state >> 16) / 257.0f;
			}
		}
	return m;
}

struct Planes {
	cv::Mat src, dst, mean, square;
};

// run does what a user of OpenCV would write.
bool run(const std::string &operation, double parameter, Planes &p) {
	const int side = int(parameter);
	const cv::Size window(side, side);
	if (operation == "mean") {
		cv::blur(p.src, p.dst, window);
	} else if (operation == "mean-variance") {
		cv::boxFilter(p.src, p.mean, CV_32F, window);
		cv::sqrBoxFilter(p.src, p.square, CV_32F, window);
		cv::multiply(p.mean, p.mean, p.dst);
		cv::subtract(p.square, p.dst, p.dst);
	} else if (operation == "dilation") {
		cv::dilate(p.src, p.dst, cv::getStructuringElement(cv::MORPH_RECT, window));
	} else if (operation == "erosion") {
		cv::erode(p.src, p.dst, cv::getStructuringElement(cv::MORPH_RECT, window));
	} else if (operation == "opening") {
		cv::morphologyEx(p.src, p.dst, cv::MORPH_OPEN, cv::getStructuringElement(cv::MORPH_RECT, window));
	} else if (operation == "gaussian") {
		const int taps = 2 * int(std::ceil(3 * parameter)) + 1;
		cv::GaussianBlur(p.src, p.dst, cv::Size(taps, taps), parameter);
	} else if (operation == "sum") {
		volatile double total = cv::sum(p.src)[0];
		(void)total;
	} else if (operation == "histogram") {
		const int bins = p.src.depth() == CV_8U ? 256 : 65536, channel = 0;
		const float range[] = {0, float(bins)};
		const float *ranges[] = {range};
		cv::calcHist(&p.src, 1, &channel, cv::Mat(), p.dst, 1, &bins, ranges);
	} else if (operation == "copy") {
		p.src.copyTo(p.dst);
	} else {
		return false;
	}
	return true;
}

int64_t processorTime() {
	timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

} // namespace

int main() {
	std::cout << "OpenCV " << CV_VERSION << std::endl;
	std::map<std::tuple<std::string, int, int>, cv::Mat> sources;
	std::tuple<std::string, int, int> now;
	Planes planes;
	std::string operation, type;
	double parameter;
	int width, height, threads, runs;
	while (std::cin >> operation >> type >> parameter >> width >> height >> threads >> runs) {
		if (now != std::make_tuple(type, width, height)) {
			now = std::make_tuple(type, width, height);
			planes = Planes();
			cv::Mat &source = sources[now];
			if (source.empty())
				source = noise(type, width, height);
			planes.src = source;
		}
		cv::setNumThreads(threads);
		// The first run is not timed. Answers wait for the last one, so that nothing comes between the runs.
		std::vector<std::pair<int64_t, int64_t>> times;
		for (int i = 0; i <= runs; i++) {
			const auto processor = processorTime();
			const auto begin = std::chrono::steady_clock::now();
			if (!run(operation, parameter, planes)) {
				std::cerr << "unknown operation " << operation << std::endl;
				return 2;
			}
			const auto end = std::chrono::steady_clock::now();
			times.emplace_back(std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count(),
							   processorTime() - processor);
		}
		for (int i = 1; i <= runs; i++)
			std::cout << times[i].first << ' ' << times[i].second << '\n';
		std::cout << std::flush;
	}
}
